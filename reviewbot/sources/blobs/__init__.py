"""Files of repositories kept on this machine by their git hash: fetched once, read by every review."""

from __future__ import annotations

from reviewbot.sources.blobs.store import MAX_STORE_BYTES, BlobStore

__all__ = ["MAX_STORE_BYTES", "BlobStore"]
