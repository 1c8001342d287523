/** The well-known ports of mail servers (RFC 8314, RFC 6409). */
export const MAIL_PORTS = {
  /** IMAP with TLS from the first byte. */
  imaps: 993,
  /** IMAP with STARTTLS. */
  imap: 143,
  /** Submission with TLS from the first byte. */
  submissions: 465,
  /** Submission with STARTTLS. */
  submission: 587,
} as const
