/**
 * A process that refreshes an account's tokens in a loop until it is killed. Arguments: the database as JSON, the key ring,
 * the URL of the OAuth server, the account id. Prints "ready" when it starts.
 */
import { parseKeyRing, sealer } from '../../../src/platform/crypto/seal.ts'
import { testAccounts } from '../accounts/accounts.ts'
import { loginAt } from '../accounts/oauth.ts'
import type { Place } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'

const [placeText = '{}', ring = '', url = '', accountId = ''] = process.argv.slice(2)
const place: Place = JSON.parse(placeText)
const db = openDatabase(place)
const { accounts } = testAccounts(db, {
  sealer: sealer(parseKeyRing(ring)),
  login: loginAt(url),
  tokenTiming: { leaseMs: 50 },
})

const { accessToken } = await accounts.access(accountId)
process.stdout.write('ready\n')
for (let token: string | undefined; ; ) token = await accessToken?.(token)
