/** Every word must match, the last of each list also where it continues. How words are compared, the provider decides. */
export interface MailSearch {
  /** Anywhere in the message. */
  text?: readonly string[]
  from?: readonly string[]
  /** Among the recipients, cc and bcc included. */
  to?: readonly string[]
  subject?: readonly string[]
  /** In ms: received at this time or later. */
  after?: number
  /** In ms: received before this time. */
  before?: number
  unread?: boolean
  hasAttachments?: boolean
}
