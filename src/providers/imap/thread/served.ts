import type { CheckedTarget, ConnectTarget } from '../../../platform/net/index.ts'
import type {
  FolderBackfill,
  FolderLiveReads,
  FolderMailProvider,
  FolderSession,
  MailAccess,
  MailDrafts,
  MailEdits,
  MessageLocation,
  ProviderError,
  SentCopies,
} from '../../contract/index.ts'
import type { ImapLimits } from '../limits.ts'

/** The IMAP provider as its thread serves it: all of it returns promises, also what makes a part of the provider. */
export interface ServedProvider extends Pick<FolderMailProvider, 'verify' | 'closeConnections'> {
  openSession(access: MailAccess, events: ServedEvents, signal: AbortSignal): Promise<FolderSession>
  liveReads(access: MailAccess): Promise<FolderLiveReads>
  backfill(access: MailAccess): Promise<FolderBackfill>
  edits(access: MailAccess): Promise<MailEdits<MessageLocation>>
  drafts(access: MailAccess, folderPath: string): Promise<MailDrafts>
  sentCopies(access: MailAccess): Promise<SentCopies>
  /** Resolves when the thread has time for it. */
  ping(): Promise<void>
}

/** As `SessionEvents`. */
export interface ServedEvents {
  onChange(folderPath: string | undefined): Promise<void>
  onClose(error: ProviderError | undefined): Promise<void>
}

/** The first object that the thread serves. */
export interface ThreadEntry {
  /** Called once. */
  start(host: ThreadHost, limits: Partial<ImapLimits>): Promise<ServedProvider>
}

export const ENTRY_METHODS = ['start'] as const satisfies readonly (keyof ThreadEntry)[]

/** Calls from the thread to the main thread. */
export interface ThreadHost {
  /** Checks an address with the guard of the service. */
  check(target: ConnectTarget): Promise<{ checked: CheckedTarget; allowsPlain: boolean }>
  warn(message: string, operation: string): Promise<void>
  failed(message: string, error: unknown): Promise<void>
}
