"""The client certificate by which a bank knows who calls (mTLS)."""

import ssl

import httpx


def client_context(certificate: str, private_key: str | None = None) -> ssl.SSLContext:
    """Return a context that shows the certificate in the PEM file `certificate`.

    `private_key`: a PEM file, None if the key stands in the same file. A key under a passphrase is
    not taken: nobody could type it. Raises ValueError for files that cannot be used, with their
    names and without what they hold.
    """
    context = httpx.create_ssl_context(trust_env=False)
    try:
        context.load_cert_chain(certificate, private_key, password=_no_passphrase)
    except (OSError, ValueError) as error:
        # ssl.SSLError is an OSError.
        raise ValueError(
            f"the client certificate {certificate!r} (key {private_key or certificate!r}) "
            f"cannot be used: {type(error).__name__}"
        ) from None
    return context


def _no_passphrase() -> str:
    raise ValueError("the private key is under a passphrase")
