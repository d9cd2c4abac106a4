"""Money: what there is, charging by Pix, giving back, paying out."""

from tools.payments.create_pix_charge import CreatePixCharge
from tools.payments.get_balance import GetBalance
from tools.payments.get_charge import GetCharge
from tools.payments.refund_charge import RefundCharge
from tools.payments.transfer_balance import TransferBalance

TOOLS = [GetBalance, GetCharge, CreatePixCharge, RefundCharge, TransferBalance]
