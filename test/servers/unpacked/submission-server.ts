import type { ReceivedMessage } from '../smtp.ts'
import type { RecipientPolicy } from './recipient-policy.ts'

export interface SubmissionOptions {
  user?: string
  password?: string
  /** Default true. */
  offersStartTls?: boolean
  /** Writes `cert.pem` and `key.pem` to the folder. Default: a self-signed certificate for `localhost` and 127.0.0.1. */
  makeCertificate?(folder: string): Promise<string>
}

/** A real SMTP server that accepts messages of its only user, over STARTTLS. Stops with `stop()` or with this process. */
export interface SubmissionServer {
  readonly host: string
  readonly port: number
  /** Every message that the server accepted, in order. */
  messages(): ReceivedMessage[]
  /** Decides about the recipients from now on. */
  behave(policy: RecipientPolicy): void
  stop(): Promise<void>
}
