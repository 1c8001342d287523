import type { FolderMailProvider, FolderSession, IdMailProvider } from '../../../src/providers/contract/index.ts'

/** Holds what a sync has read of the mailbox, before it is stored, until the test releases it. */
export class HeldReads {
  #isHolding = false
  #waiting: (() => void)[] = []

  /** From now on every step of a sync is held. */
  hold(): void {
    this.#isHolding = true
  }

  get held(): number {
    return this.#waiting.length
  }

  /** Passes on the oldest held step; later ones are held. */
  releaseOne(): void {
    this.#waiting.shift()?.()
  }

  /** Passes on the held steps, and all later ones. */
  release(): void {
    this.#isHolding = false
    for (const go of this.#waiting.splice(0)) go()
  }

  idMail(mail: IdMailProvider): IdMailProvider {
    const openSession: IdMailProvider['openSession'] = (access) => {
      const session = mail.openSession(access)
      return { ...session, syncScope: (request) => this.#steps(session.syncScope(request)) }
    }
    return { ...mail, openSession }
  }

  folderMail(mail: FolderMailProvider): FolderMailProvider {
    const openSession: FolderMailProvider['openSession'] = async (access, events, signal) => {
      const session = await mail.openSession(access, events, signal)
      const wrapped: FolderSession = {
        listFolders: (abort) => session.listFolders(abort),
        changedFolders: (folders) => session.changedFolders(folders),
        presentUids: (path, uidValidity, uids) => session.presentUids(path, uidValidity, uids),
        watch: (path) => session.watch(path),
        close: () => session.close(),
        receivedBytes: () => session.receivedBytes(),
        syncFolder: (request) => this.#steps(session.syncFolder(request)),
      }
      return wrapped
    }
    return { ...mail, openSession }
  }

  async *#steps<Step>(steps: AsyncIterable<Step>): AsyncGenerator<Step> {
    for await (const step of steps) {
      if (this.#isHolding) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      yield step
    }
  }
}
