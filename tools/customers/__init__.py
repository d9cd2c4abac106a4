"""Customer records: finding them and keeping their address right."""

from tools.customers.find_customer import FindCustomer
from tools.customers.update_email import UpdateEmail

TOOLS = [FindCustomer, UpdateEmail]
