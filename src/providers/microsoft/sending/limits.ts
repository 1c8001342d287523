export const DOING = 'sending'

/**
 * Graph refuses requests of more than 4 MiB, of which base64 leaves three quarters. Attachments from 3 MB take an upload session; a
 * session for a smaller one is refused. The rest is for the other members of the request.
 */
export const MAX_REQUEST_BYTES = 4 * 1024 * 1024
const MAX_ENCODED_BYTES = (MAX_REQUEST_BYTES / 4) * 3 - 4096
export const MAX_MIME_BYTES = MAX_ENCODED_BYTES
/** The largest attachment that one request adds. A larger one takes an upload session. */
export const MAX_ATTACHED_BYTES = MAX_ENCODED_BYTES
/** For requests of up to 4 MB. */
export const TRANSFER_MS = 120_000
