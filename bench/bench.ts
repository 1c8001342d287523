import { backfill } from './backfill.ts'
import { burst } from './burst.ts'
import { calendar } from './calendar.ts'
import { contacts } from './contacts.ts'
import { costs } from './costs.ts'
import { deliver } from './deliver.ts'
import { files } from './files.ts'
import { firstAccount } from './first-account.ts'
import { firstPage } from './first-page.ts'
import { fullSync } from './full-sync.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { list } from './list.ts'
import { manyAccounts } from './many-accounts.ts'
import { newMail } from './new-mail.ts'
import { replicas } from './replicas.ts'
import { responsive } from './responsive.ts'
import { scaling } from './scaling.ts'
import { search } from './search.ts'
import { send } from './send.ts'
import { slots } from './slots.ts'
import { start } from './start.ts'
import { streams } from './streams.ts'
import { tables } from './tables.ts'

/** Prints its figures next to those of the raw protocol in the same run. */
export type Benchmark = (say: (line: string) => void) => Promise<void>

const BENCHMARKS: Record<string, Benchmark> = {
  start,
  'new-mail': newMail,
  'full-sync': fullSync,
  'first-page': firstPage,
  'first-account': firstAccount,
  idle,
  'many-accounts': manyAccounts,
  backfill,
  burst,
  deliver,
  list,
  search,
  calendar,
  contacts,
  slots,
  send,
  streams,
  responsive,
  tables,
  costs,
  scaling,
  replicas,
  files,
  growth,
}

/** `npm run bench` runs all benchmarks, `npm run bench new-mail` one. Needs Linux with Dovecot. */
async function main(): Promise<void> {
  const names = process.argv.slice(2)
  const unknown = names.find((name) => !(name in BENCHMARKS))
  if (unknown !== undefined) {
    process.stderr.write(`There is no benchmark "${unknown}". Known: ${Object.keys(BENCHMARKS).join(', ')}.\n`)
    process.exit(2)
  }
  for (const [name, run] of Object.entries(BENCHMARKS)) {
    if (names.length > 0 && !names.includes(name)) continue
    process.stdout.write(`\n${name}\n`)
    await run((line) => void process.stdout.write(`  ${line}\n`))
  }
}

await main()
