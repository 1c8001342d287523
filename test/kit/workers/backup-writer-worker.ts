import { sql } from 'kysely'
import { openDatabase } from '../database/open-database.ts'

/**
 * A process that commits transactions one after the other and prints the number of each once it is committed: two rows, and one more in
 * `written.<writer>` of the service state. Arguments: data folder, database URL, name of the writer.
 */
const [dataDir = '', databaseUrl = '', writer = ''] = process.argv.slice(2)

const db = openDatabase({ dataDir, databaseUrl })
for (let number = 1; ; number += 1) {
  await db.transaction(async (tx) => {
    const id = `${writer}-${number}`
    await tx.insertInto('bookingHosts').values({ hostId: id }).execute()
    await tx.insertInto('deduplicationClaims').values({ key: id, eventId: writer, expiresAt: number }).execute()
    await tx
      .insertInto('serviceState')
      .values({ name: `written.${writer}`, value: '1' })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ value: sql`cast(cast("serviceState"."value" as integer) + 1 as text)` }),
      )
      .execute()
  })
  process.stdout.write(`${number}\n`)
}
