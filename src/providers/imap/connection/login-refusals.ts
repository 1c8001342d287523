/**
 * The meaning of a refused LOGIN or AUTHENTICATE. Servers name the cause by a response code (RFC 5530), by words, or by both, and the code
 * is often wrong: Gmail sends `[ALERT]` with everything, others `[AUTHENTICATIONFAILED]` while they only limit the logins.
 */
export type LoginRefusal =
  /** The username or password is wrong, or the user must do something about them, such as make an app password. */
  | 'credentials'
  /** The mailbox has too many connections. */
  | 'connections'
  /** Too many logins, failed attempts, commands or bytes. */
  | 'limit'
  /** The server or its directory of users fails. */
  | 'outage'
  /** The server names its administrator: it has locked the mailbox, or fails. */
  | 'administrator'
  /** The server did not understand the command. */
  | 'protocol'
  | 'encryption'

interface RefusedLogin {
  /** In upper case; empty without one. */
  code: string
  /** The server's text. */
  words: string
  /** The server answered BAD. */
  isBad: boolean
}

/** `AUTHENTICATIONFAILED`, `AUTHORIZATIONFAILED` and `ALERT` are not here: the words say more. */
const MEANING: Readonly<Record<string, LoginRefusal>> = {
  EXPIRED: 'credentials',
  PRIVACYREQUIRED: 'encryption',
  LIMIT: 'limit',
  OVERQUOTA: 'limit',
  THROTTLED: 'limit',
  UNAVAILABLE: 'outage',
  INUSE: 'outage',
  SERVERBUG: 'outage',
  CORRUPTION: 'outage',
  CONTACTADMIN: 'administrator',
  CLIENTBUG: 'protocol',
}

const CONNECTIONS = [
  /too many (\S+ )?(connections|sessions|users|clients)/i,
  /maximum (number of )?(\S+ )?(connections?|sessions?)/i,
  /(connections?|sessions?) (limit|count|exceeded)/i,
  /(simultaneous|concurrent) (connections|sessions|logins)/i,
]

const LIMITS = [
  /too many|too (often|frequent)|throttl|exceeded|maximum number/i,
  /(rate|frequency|command|bandwidth|usage|login) limit/i,
  /limits? ((was|has been|have been) )?(reached|hit)/i,
]

const OUTAGES = [
  /temporar|unavailable|not available|overload|maintenance|shutting down|timed? ?-?out/i,
  /later|try again in/i,
  /(system|server|service|backend|internal|database|lookup|directory) (\S+ )?(error|fail|problem|down)/i,
  /lookup failed|generic failure|unknown error|connection (refused|lost)/i,
  /(too|is|server|system) busy|mailbox (is )?(busy|in use|locked)|authenticated but not connected/i,
  /(cannot|can't|unable to|could not) (access|open|connect|contact|reach)/i,
]

const ENCRYPTION = [
  /(under|requires?|without|only over|needs?) (a )?(layer|tls|ssl|starttls|encryption|secure)/i,
  /(plaintext|clear ?text) (\S+ )?(is |are )?(disallowed|disabled|not allowed|not permitted)/i,
]

const WRONG = [
  /(invalid|incorrect|wrong|bad|unknown) (\S+ ){0,3}(credentials?|password|passwd|user ?name|user|login|account)/i,
  /password (\S+ ){0,2}(incorrect|invalid|wrong|error)/i,
  /no such user|user (unknown|not found|does not exist)/i,
]
/** Beside these, the words for a wrong password do not decide. */
const CERTAINLY_TEMPORARY = /too many|temporar|later|exceeded/i

const REFUSED = /(login|logon|auth\w*|sign.?in|password) (\S+ )?(fail|refus|reject|denied|error)|invalid|denied/i

export function meaningOfRefusal({ code, words, isBad }: RefusedLogin): LoginRefusal {
  const meaning = MEANING[code]
  if (meaning === 'credentials' || meaning === 'encryption') return meaning
  // Some list every cause that there can be, an outage and a limit beside the wrong password.
  if (matches(WRONG, words) && !CERTAINLY_TEMPORARY.test(words)) return meaning ?? 'credentials'
  if (matches(CONNECTIONS, words)) return 'connections'
  if (matches(LIMITS, words)) return 'limit'
  if (meaning !== undefined) return meaning
  if (matches(OUTAGES, words)) return 'outage'
  if (matches(ENCRYPTION, words)) return 'encryption'
  return isBad && !REFUSED.test(words) ? 'protocol' : 'credentials'
}

function matches(patterns: readonly RegExp[], words: string): boolean {
  return patterns.some((pattern) => pattern.test(words))
}
