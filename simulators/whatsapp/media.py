"""Files that persons sent: described under their id, downloaded from an address of their own.

As at Meta, both requests need the token, and the description names size and hash.
"""

import hashlib

from pydantic import BaseModel


class MediaFile(BaseModel):
    """One file. `sha256`: what the description says, the file's own unless a test lies."""

    id: str
    data: bytes
    mime_type: str
    sha256: str | None = None

    def described(self, base_url: str) -> dict[str, object]:
        """What GET /v{NN}.0/{media-id} answers; `base_url` ends with a slash."""
        return {
            "messaging_product": "whatsapp",
            "url": f"{base_url}media-files/{self.id}",
            "mime_type": self.mime_type,
            "sha256": self.sha256 or hashlib.sha256(self.data).hexdigest(),
            "file_size": len(self.data),
            "id": self.id,
        }
