/** The messages of a strict IMAP server: what its folders contain, and what they once contained. */

export interface StrictMessage {
  uid: number
  raw: Buffer
  flags: Set<string>
  internalDate: Date
  modseq: number
}

export class StrictFolder {
  path: string
  uidValidity: number
  uidNext = 1
  /** Every change takes the next number. */
  modseq = 1
  messages: StrictMessage[] = []
  /** RFC 7162 calls these tombstones. */
  expunged: { uid: number; modseq: number }[] = []
  /** Called after every change. */
  onChange: () => void = () => {}

  constructor(path: string, uidValidity: number) {
    this.path = path
    this.uidValidity = uidValidity
  }

  add(raw: Buffer, { internalDate = new Date(), flags = [] as readonly string[] } = {}): StrictMessage {
    this.modseq += 1
    const message = { uid: this.uidNext, raw, flags: new Set(flags), internalDate, modseq: this.modseq }
    this.uidNext += 1
    this.messages.push(message)
    this.onChange()
    return message
  }

  /** Removes the message whose raw text contains these characters, and returns it. */
  remove(text: string): StrictMessage {
    const message = this.find(text)
    this.modseq += 1
    this.messages = this.messages.filter((candidate) => candidate !== message)
    this.expunged.push({ uid: message.uid, modseq: this.modseq })
    this.onChange()
    return message
  }

  flag(text: string, flag: string, isSet = true): void {
    const message = this.find(text)
    this.modseq += 1
    message.modseq = this.modseq
    if (isSet) message.flags.add(flag)
    else message.flags.delete(flag)
    this.onChange()
  }

  find(text: string): StrictMessage {
    const found = this.messages.find(({ raw }) => raw.includes(text))
    if (found === undefined) throw new Error(`No message in ${this.path} contains "${text}".`)
    return found
  }

  /** The folder as it is now, for `restore`. */
  backup(): StrictBackup {
    const { uidNext, modseq, expunged } = this
    const messages = this.messages.map((message) => ({ ...message, flags: new Set(message.flags) }))
    return { uidNext, modseq, expunged: [...expunged], messages }
  }

  /** UIDVALIDITY stays. */
  restore({ uidNext, modseq, expunged, messages }: StrictBackup): void {
    this.uidNext = uidNext
    this.modseq = modseq
    this.expunged = [...expunged]
    this.messages = messages.map((message) => ({ ...message, flags: new Set(message.flags) }))
    this.onChange()
  }

  /** Gives every message another UID. */
  renumber(uidValidity: number, firstUid = 1): void {
    this.uidValidity = uidValidity
    this.messages.forEach((message, index) => {
      message.uid = firstUid + index
    })
    this.uidNext = firstUid + this.messages.length
    this.expunged = []
  }
}

export type StrictBackup = Pick<StrictFolder, 'uidNext' | 'modseq' | 'expunged' | 'messages'>
