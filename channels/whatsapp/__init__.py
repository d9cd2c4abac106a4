"""WhatsApp Cloud API: its wire format both ways, signatures, limits and sending."""
