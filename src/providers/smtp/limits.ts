export interface SmtpLimits {
  /** Until the login is done. */
  connectMs: number
  /** The server may be silent for this long, also after the end of the message. */
  silenceMs: number
  /** For one message. */
  sendMs: number
  /** An idle connection is kept for the next message. Servers end theirs after some minutes. */
  keptMs: number
  /** The longest reply of a server. */
  replyBytes: number
}

export const SMTP_LIMITS: SmtpLimits = {
  connectMs: 15_000,
  silenceMs: 120_000,
  sendMs: 15 * 60_000,
  keptMs: 30_000,
  replyBytes: 16 * 1024,
}
