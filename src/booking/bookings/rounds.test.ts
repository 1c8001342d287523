import { expect, it } from 'vitest'
import { databases, describePostgres } from '../../../test/kit/database/database.ts'
import { runBookingRounds } from '../../../test/scenarios/booking-rounds.ts'

const ROUNDS = { rounds: 20, parallel: 50 }
const timeout = 180_000

const file = databases('sqlite')
it('books no time of a host twice over 20 rounds and 2 kills, on the file store', { timeout }, async () => {
  const place = await file.place()
  const { booked, refused } = await runBookingRounds(await file(place), place, { ...ROUNDS, replicas: 1, kills: 2 })
  expect(booked + refused).toBe(1000)
})

describePostgres('on PostgreSQL', (open) => {
  for (const { rounds, replicas, kills } of [
    { rounds: 6, replicas: 1, kills: 0 },
    { rounds: 20, replicas: 2, kills: 2 },
  ]) {
    it(`books no time of a host twice over ${rounds} rounds, ${replicas} processes and ${kills} kills`, {
      timeout,
    }, async () => {
      const place = await open.place()
      const size = { ...ROUNDS, rounds, replicas, kills }
      const { booked, refused } = await runBookingRounds(await open(place), place, size)
      expect(booked + refused).toBe(rounds * ROUNDS.parallel)
    })
  }
})
