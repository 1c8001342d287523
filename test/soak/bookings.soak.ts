import { expect, it } from 'vitest'
import { type Databases, databases, describePostgres } from '../kit/database/database.ts'
import { type BookingRounds, runBookingRounds } from '../scenarios/booking-rounds.ts'

const ROUNDS = 500
const PARALLEL = 50
const KILLS = 50
const timeout = 3_600_000

async function run(title: string, open: Databases, scenario: Pick<BookingRounds, 'replicas'>): Promise<void> {
  const place = await open.place()
  const size = { rounds: ROUNDS, parallel: PARALLEL, kills: KILLS }
  const { booked, refused } = await runBookingRounds(await open(place), place, { ...size, ...scenario })
  console.log(
    `${title}: ${ROUNDS} rounds of ${PARALLEL}, ${KILLS} kills: ${booked} booked, ${refused} refused, none twice`,
  )
  expect(booked + refused).toBe(ROUNDS * PARALLEL)
}

const file = databases('sqlite')
it('books no time of a host twice over 500 rounds on the file store', { timeout }, () =>
  run('sqlite', file, { replicas: 1 }),
)

describePostgres('on PostgreSQL', (open) => {
  it('books no time of a host twice over 500 rounds', { timeout }, () => run('postgres', open, { replicas: 1 }))
  it('books no time of a host twice over 500 rounds of two replicas', { timeout }, () =>
    run('postgres, two replicas', open, { replicas: 2 }),
  )
})
