import { checkAddress, type ParsedAddress } from '../../providers/shared/mime/index.ts'

/** Characters that are not shown, such as soft hyphens: two spellings with and without them look the same. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * The address of a guest or attendee, in the one spelling that messages are sent to, that codes prove and that limits count: compatible
 * characters become the usual ones (NFKC), invisible ones are left out. `problem` continues the field's name.
 */
export function guestAddress(email: string): ParsedAddress {
  return checkAddress({ name: '', email: email.normalize('NFKC').replaceAll(INVISIBLE, '') })
}

/** Equal for two addresses that prove each other. No mailbox server in use distinguishes upper and lower case. */
export function addressKey(email: string): string {
  return email.toLowerCase()
}

/**
 * Equal for addresses that may belong to one mailbox: without a tag (`ada+shop@…`), and at Gmail without dots. For limits only, because
 * elsewhere `ada+bob@…` may be somebody else.
 */
export function mailboxKey(email: string): string {
  const key = addressKey(email)
  const at = key.lastIndexOf('@')
  const [local, domain] = [key.slice(0, at).replaceAll('"', ''), key.slice(at + 1)]
  const name = local.replace(/(?<=.)\+.*$/, '')
  return GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}
