import { asciiEmail } from '../../platform/formats/email-address.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { checkAddress } from '../../providers/shared/mime/index.ts'
import type { Message } from '../messages/index.ts'

/**
 * Who gets a reply that names nobody: those in Reply-To, else the sender. A reply to a message that the account sent goes to its
 * recipients, as in mail programs. Empty when the message names no address that can get mail.
 */
export function recipientsOfReply(
  original: Pick<Message, 'from' | 'replyTo' | 'to' | 'cc'>,
  { ownEmail, isInSent }: { ownEmail: string; isInSent: boolean },
): RemoteAddress[] {
  const isOwn = ({ email }: RemoteAddress) => asciiEmail(email).toLowerCase() === asciiEmail(ownEmail).toLowerCase()
  const from = reachable(original.from === null ? [] : [original.from])
  const [replyTo, to, cc] = [reachable(original.replyTo), reachable(original.to), reachable(original.cc)]
  const senders = replyTo.length > 0 ? replyTo : from
  // An alias may be the sender of what is in Sent. Somebody's message that was moved there is for the account.
  const isOwnMessage = from.some(isOwn) || (isInSent && ![...to, ...cc].some(isOwn))
  if (!isOwnMessage) return senders
  const hasOtherRecipients = isInSent && [...to, ...cc].some((address) => !isOwn(address))
  // Forms of websites send a visitor's message from the account to itself.
  if (!hasOtherRecipients && !replyTo.every(isOwn)) return replyTo
  if (to.length > 0) return to
  if (cc.length > 0) return cc
  return isInSent ? [] : senders
}

/** The ids of References of a reply (RFC 5322 3.6.4): those of the thread, then that of the message it replies to. */
export function referencesOfReply({
  messageId,
  inReplyTo,
  references,
}: Pick<Message, 'messageId' | 'inReplyTo' | 'references'>): string[] {
  const thread = references.length === 0 && inReplyTo !== null ? [inReplyTo] : references
  return messageId === null ? thread : [...thread.filter((id) => id !== messageId), messageId]
}

/** Received headers name anything as an address. The others keep the form that the sender uses, if a mail server may accept it. */
function reachable(addresses: readonly RemoteAddress[]): RemoteAddress[] {
  return addresses.flatMap((address) => checkAddress(address).address ?? (POSSIBLE.test(address.email) ? address : []))
}

const POSSIBLE = /^[^\s\p{C}<>"@,;:\\]+@[^\s\p{C}<>"@,;\\]+$/u
