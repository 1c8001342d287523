import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { PushProvider } from '../contract/index.ts'
import { type IdMailProvider, type MailAccess, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { restClient } from '../rest/index.ts'
import { graphFailure } from './errors.ts'
import { FolderList } from './folders.ts'
import { Graph } from './graph.ts'
import { object } from './json.ts'
import { microsoftLiveReads } from './live-reads.ts'
import { microsoftPush } from './push.ts'
import { MicrosoftSession } from './session.ts'

export interface MicrosoftDeps {
  /** From the settings: `/v1.0/…` stands below it. National clouds have their own. */
  graphUrl: string
  clock: Clock
  verifyMs?: number
}

/** Exchange works on no more requests of one application for one mailbox at a time. */
const CONCURRENT = 4

/** One for the whole process: it holds the pace of each mailbox and the connections to Graph. */
export function microsoftProvider({ graphUrl, clock, verifyMs = 10_000 }: MicrosoftDeps): {
  mail: IdMailProvider
  push: PushProvider
} {
  const root = `${graphUrl.replace(/\/+$/, '')}/v1.0`
  const client = restClient({ root, clock, pace: { concurrency: CONCURRENT }, failure: graphFailure })
  const graph = (access: MailAccess, urgent: boolean) => new Graph({ root, client, clock }, access, { urgent })

  async function verify(access: MailAccess, signal: AbortSignal): Promise<{ folders: RemoteFolder[] }> {
    const asked = new AbortController()
    const giveUp = () => asked.abort(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', giveUp, { once: true })
    const reading = graph(access, true)
    const work = async () => {
      await reading.get(
        '/me',
        { query: { $select: 'id' }, doing: 'looking at the mailbox', signal: asked.signal },
        object,
      )
      return { folders: await new FolderList(reading).list(asked.signal) }
    }
    const late = () => new ProviderError('unavailable', 'looking at the mailbox: no answer in time', { timedOut: true })
    try {
      return await withTimeout(work(), verifyMs, late)
    } finally {
      signal.removeEventListener('abort', giveUp)
      asked.abort(late())
    }
  }

  return {
    mail: {
      kind: 'mailbox',
      verify,
      openSession: (access) => new MicrosoftSession(graph(access, false), clock),
      liveReads: (access) => microsoftLiveReads(graph(access, true)),
      closeConnections: (accountId) => client.close(accountId),
    },
    // Graph asks our address for an answer before it gives its own: longer than anybody waits for a page.
    push: microsoftPush(
      (access) => graph(access, false),
      () => clock.now(),
    ),
  }
}
