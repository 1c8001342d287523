/** Whether mail servers send their reports from this address. The last one is that of Exchange. */
export function isMailSystem(email: string): boolean {
  return MAIL_SYSTEM.test(email)
}

const MAIL_SYSTEM =
  /^(?:mail(?:er)?[-_]?daemon|mdaemon|mmdf|postmaster|microsoftexchange329e71ec88ae4615bbc36ab6ce41109e)(?:@|$)/i
