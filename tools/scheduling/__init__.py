"""The agenda: what is free, what is booked, and changes to it."""

from tools.scheduling.cancel_booking import CancelBooking
from tools.scheduling.create_booking import CreateBooking
from tools.scheduling.list_bookings import ListBookings
from tools.scheduling.list_free_slots import ListFreeSlots
from tools.scheduling.reschedule_booking import RescheduleBooking

TOOLS = [ListFreeSlots, ListBookings, CreateBooking, RescheduleBooking, CancelBooking]
