import type { ImapFlow, MailboxObject } from 'imapflow'

export interface OpenOptions {
  /** Opens the folder again if it is selected. Otherwise its state may be as old as the selection. */
  fresh?: boolean
  /** The last UIDVALIDITY that the caller knows of the folder. */
  uidValidity?: string | undefined
}

/**
 * Opens the folders of one connection to read them. EXAMINE is preferred, because SELECT takes `\Recent` from other programs.
 *
 * Courier stores the UIDs of a folder at SELECT only. Until the first one, each EXAMINE and STATUS invents a UIDVALIDITY. Later, each EXAMINE
 * numbers new messages by the names of their files, so that they may exchange their UIDs. Courier leaves out UIDNEXT, which RFC 3501 requires:
 * all folders of a server that does are opened by SELECT. Any other folder is, once, when its UIDVALIDITY is not the expected one.
 */
export class FolderOpener {
  readonly #imap: ImapFlow
  #storesOnSelect = false

  constructor(imap: ImapFlow) {
    this.#imap = imap
  }

  /** The server stores UIDs at SELECT only, so those of a STATUS mean nothing. False until the connection has opened a folder. */
  get storesOnSelect(): boolean {
    return this.#storesOnSelect
  }

  /** Throws the error of imapflow. */
  async open(path: string, { fresh = false, uidValidity }: OpenOptions = {}): Promise<MailboxObject> {
    const selected = this.#imap.mailbox
    const isExpected = (box: MailboxObject) => uidValidity === undefined || String(box.uidValidity) === uidValidity
    if (!fresh && selected && selected.path === path && isExpected(selected)) return selected
    if (this.#storesOnSelect) return this.#select(path)
    const examined = await this.#examine(path)
    this.#storesOnSelect = !examined.uidNext
    if (this.#storesOnSelect) return this.#select(path)
    if (isExpected(examined)) return examined
    await this.#select(path)
    return this.#examine(path)
  }

  #examine(path: string): Promise<MailboxObject> {
    return this.#imap.mailboxOpen(path, { readOnly: true })
  }

  async #select(path: string): Promise<MailboxObject> {
    try {
      return await this.#imap.mailboxOpen(path, { readOnly: false })
    } catch (error) {
      // Some folders can only be read.
      if (!this.#imap.usable) throw error
      return this.#examine(path)
    }
  }
}
