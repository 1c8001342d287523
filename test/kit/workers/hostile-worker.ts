/**
 * The hostile servers and callers of the soak, in a process of their own, so that they take no time from the test. Arguments:
 * the URLs of the fake Google and Microsoft, and a seed. Sends its addresses, then obeys `HostileOrder`.
 */
import { startHostileCaldav } from '../../servers/hostile/caldav.ts'
import { type CallerOptions, type Callers, startCallers } from '../../servers/hostile/callers.ts'
import { startHostileProvider, startHostileReceiver } from '../../servers/hostile/http.ts'
import { startHostileImap } from '../../servers/hostile/imap.ts'

export interface HostileAddresses {
  imapPort: number
  caldav: string
  receiver: string
  google: string
  microsoft: string
}

export type HostileOrder =
  | { order: 'attack'; url: string; codes: string[]; page: CallerOptions['page'] }
  | { order: 'calm' }

/** Sent when the callers have stopped. */
export interface HostileReport {
  calls: Record<string, number>
}

/** The share of requests to a provider that get a hostile response. */
const SHARE = 0.3

const [googleUrl = '', microsoftUrl = '', seed = '1'] = process.argv.slice(2)
let state = Number(seed)
const random = () => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >>> 8) / 2 ** 23
}
const imap = await startHostileImap()
const caldav = await startHostileCaldav()
const receiver = await startHostileReceiver()
const google = await startHostileProvider(googleUrl, random, SHARE)
const microsoft = await startHostileProvider(microsoftUrl, random, SHARE)
const servers = [imap, caldav, receiver, google, microsoft]
let callers: Callers | undefined

process.on('message', async (message: HostileOrder) => {
  for (const server of servers) server.isHostile = message.order === 'attack'
  if (message.order === 'attack') {
    callers = startCallers({ url: message.url, codes: message.codes, page: message.page, random })
    return
  }
  await callers?.stop()
  const report: HostileReport = { calls: { ...callers?.counts } }
  process.send?.(report)
})
process.on('disconnect', () => process.exit())
const addresses: HostileAddresses = {
  imapPort: imap.port,
  caldav: caldav.url,
  receiver: receiver.url,
  google: google.url,
  microsoft: microsoft.url,
}
process.send?.(addresses)
