import { describe, expect, it } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { random } from '../kit/random/random.ts'
import { runSecondClient } from '../scenarios/second-client.ts'
import { type SyncClientName, syncClientAvailable } from '../servers/clients/index.ts'
import { dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import type { ImapServer } from '../servers/imap-server.ts'
import { courierAvailable, startCourier } from '../servers/unpacked/courier.ts'
import { cyrusAvailable, startCyrus } from '../servers/unpacked/cyrus.ts'

/** The length of all pairs together. */
const MINUTES = Number(process.env.POSTHORN_SOAK_MINUTES ?? 30)

const SERVERS: { name: string; isAvailable: () => boolean; start: () => Promise<ImapServer> }[] = [
  { name: 'Dovecot', isAvailable: dovecotAvailable, start: () => startDovecot() },
  { name: 'Cyrus', isAvailable: cyrusAvailable, start: () => startCyrus() },
  { name: 'Courier', isAvailable: courierAvailable, start: () => startCourier() },
]
const CLIENTS: SyncClientName[] = ['mbsync', 'offlineimap']
const PAIR_MS = (MINUTES * 60_000) / (SERVERS.length * CLIENTS.length)

const open = databases('sqlite')

for (const { name, isAvailable, start } of SERVERS) {
  for (const client of CLIENTS) {
    describe.skipIf(!isAvailable() || !syncClientAvailable(client))(`${client} on ${name}`, () => {
      it('and the service end each round with the same messages, every event once', {
        timeout: PAIR_MS + 600_000,
      }, async () => {
        const server = await start()
        try {
          const endsAt = performance.now() + PAIR_MS
          const { rounds, changes } = await runSecondClient({ server, client, open, endsAt, random: random() })
          console.log(`${client} on ${name}: ${changes} changes in ${rounds} rounds`)
          expect(rounds).toBeGreaterThan(0)
        } finally {
          await server.stop()
        }
      })
    })
  }
}
