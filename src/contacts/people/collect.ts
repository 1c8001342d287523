export interface SeenMessage {
  id: string
  accountId: string
  receivedAt: number
  /** The JSON of the message's fields. */
  fields: string
  /** The message is in Sent. */
  isInSent: boolean
}

/** What some messages say about one person. */
export interface SeenPerson {
  accountId: string
  /** In lower case. */
  email: string
  /** Of the latest message that has one; empty without. */
  displayName: string
  /** Messages to this person, and from them. */
  sent: number
  received: number
  lastAt: number
}

interface Address {
  name: string | null
  email: string
}

/** A message to more people says little about each. */
const MAX_RECIPIENTS = 20
const MAX_EMAIL = 320
const MAX_NAME = 200

/** Addresses of programs: nobody reads what is sent there. */
const AUTOMATIC =
  /^(?:(?:do[-_.]?)?not?[-_.]?reply|bounces?|mailer-daemon|postmaster|notifications?|newsletters?|automailer|auto-?reply|daemon)(?:[-+_.=].*)?@|(?:[-_.](?:noreply|no-reply|bounces?|unsubscribe|request|owner))@|^(?:owner|bounce|listserv|majordomo)-/i

/**
 * The people in messages, without the account itself, and without programs. A message that went to many says nothing about whom its
 * author or its reader knows. `addresses`: those of each account with its aliases, in lower case.
 */
export function collectPeople(
  messages: readonly SeenMessage[],
  addresses: ReadonlyMap<string, ReadonlySet<string>>,
): SeenPerson[] {
  const people = new Map<string, SeenPerson>()
  for (const message of messages) {
    const own = addresses.get(message.accountId)
    if (own === undefined) continue
    const { from, to, cc, bcc, isBulk } = readFields(message.fields)
    if (isBulk) continue
    const isOwn = ({ email }: Address) => own.has(email.trim().toLowerCase())
    // An alias that is not known may be the sender of what is in Sent. Somebody's message that was moved there is for the account.
    const isSent = (from !== null && isOwn(from)) || (message.isInSent && ![...to, ...cc].some(isOwn))
    const others = isSent ? [...to, ...cc, ...bcc] : from === null ? [] : [from]
    if (others.length > MAX_RECIPIENTS) continue
    for (const { email, name } of new Map(others.map((each) => [each.email.toLowerCase(), each])).values()) {
      const key = email.trim().toLowerCase()
      if (own.has(key) || !isPerson(key)) continue
      add(people, { ...message, email: key, name: (name ?? '').slice(0, MAX_NAME).trim(), isSent })
    }
  }
  return [...people.values()]
}

export function isPerson(email: string): boolean {
  return email.length <= MAX_EMAIL && /^[^\s@]+@[^\s@]+$/.test(email) && !AUTOMATIC.test(email)
}

function add(
  people: Map<string, SeenPerson>,
  seen: { accountId: string; receivedAt: number; email: string; name: string; isSent: boolean },
): void {
  const { accountId, receivedAt, email, name, isSent } = seen
  const key = `${accountId} ${email}`
  const person = people.get(key) ?? { accountId, email, displayName: '', sent: 0, received: 0, lastAt: 0 }
  // People write their own name as they want it to be.
  const isNewer = receivedAt >= person.lastAt || person.displayName === ''
  people.set(key, {
    ...person,
    displayName: name !== '' && name.toLowerCase() !== email && isNewer ? name : person.displayName,
    sent: person.sent + Number(isSent),
    received: person.received + Number(!isSent),
    lastAt: Math.max(person.lastAt, receivedAt),
  })
}

interface SeenFields {
  from: Address | null
  to: Address[]
  cc: Address[]
  bcc: Address[]
  /** It went to many readers, or a program wrote it. */
  isBulk: boolean
}

function readFields(text: string): SeenFields {
  const { from = null, to = [], cc = [], bcc = [], bulk = false } = JSON.parse(text)
  return { from, to, cc, bcc, isBulk: bulk }
}
