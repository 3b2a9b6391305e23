"""Pairing: which phones and other devices may use a server that others on the network reach.

- certificate  The server's certificate, made by itself and known by its fingerprint.
- connections  What the devices have open, which ends when one is removed.
- devices      The devices that were let in: kept, listed, and taken back.
- qr_code      QR codes, for a terminal and for the page.
"""

EXPORTS = {
    "certificate": ["kept_certificate"],
    "connections": ["DeviceConnections"],
    "devices": ["DEVICE_DAYS", "Device", "PairedDevices", "is_key_of"],
    "qr_code": ["qr_lines", "terminal_text"],
}
