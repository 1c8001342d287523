/** A message of the demo. */
export interface MessageText {
  from: string
  subject: string
  text: string
  sentAt: Date
}

const FIRST_DAY = Date.UTC(2026, 0, 12, 8, 30)
const DAY_MS = 24 * 60 * 60 * 1000

export const SAMPLE_MESSAGES: readonly MessageText[] = [
  [
    'Charles Babbage <charles@demo.posthorn.example>',
    'The engine, second drawing',
    'Dear Ada,\n\nthe second drawing is done. The mill now turns.\n\nCharles',
  ],
  [
    'Mary Somerville <mary@demo.posthorn.example>',
    'Lecture on Thursday',
    'Will you come to the lecture on Thursday at six?',
  ],
  [
    'Michael Faraday <michael@demo.posthorn.example>',
    'Re: sparks',
    'It worked. Come and see before the candles burn down.',
  ],
  ['Billing <billing@demo.posthorn.example>', 'Invoice 1843-07', 'Your invoice for one set of punched cards is ready.'],
  [
    'Grüße aus Göttingen <carl@demo.posthorn.example>',
    'Über die Primzahlen',
    'Liebe Ada, ich habe eine hübsche Beobachtung gemacht.',
  ],
].map(([from = '', subject = '', text = ''], index) => ({
  from,
  subject,
  text,
  sentAt: new Date(FIRST_DAY + index * DAY_MS),
}))

const ARRIVING = [
  ['Luigi Menabrea', 'Your notes, translated', 'Dear Ada, the translation is ready. Shall I add your notes?'],
  ['Mary Somerville', 'After the lecture', 'Three people asked me about your engine. May I introduce them to you?'],
  ['Augustus De Morgan', 'Exercise 7', 'Your proof is right, and shorter than mine. Try number eight.'],
  ['Charles Babbage', 'The mill', 'It now carries to the twentieth wheel without a hand on the crank.'],
] as const

/** The message that arrives as number `index`, counted from 0. */
export function nextMessage(index: number, nowMs: number): MessageText {
  const [name, subject, text] = ARRIVING[index % ARRIVING.length] ?? ARRIVING[0]
  const [first = ''] = name.toLowerCase().split(' ')
  const count = Math.floor(index / ARRIVING.length)
  return {
    from: `${name} <${first}@demo.posthorn.example>`,
    subject: count === 0 ? subject : `${subject} (${count + 1})`,
    text,
    sentAt: new Date(nowMs),
  }
}

/** The message in RFC 5322 form: headers encoded per RFC 2047, body in base64. */
export function rawMessage(message: MessageText): string {
  const id = `${message.sentAt.getTime()}.${Buffer.from(message.subject).toString('hex').slice(0, 12)}@demo.posthorn.example`
  return [
    `Message-ID: <${id}>`,
    `Date: ${message.sentAt.toUTCString().replace('GMT', '+0000')}`,
    `From: ${encodeAddress(message.from)}`,
    'To: Ada Lovelace <ada@demo.posthorn.example>',
    `Subject: ${encodeWord(message.subject)}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(message.text).toString('base64'),
    '',
  ].join('\r\n')
}

function encodeAddress(address: string): string {
  const [, name = '', email = ''] = /^(.*) <(.*)>$/.exec(address) ?? []
  return `${encodeWord(name)} <${email}>`
}

function encodeWord(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
}
