import { expect, it } from 'vitest'
import { mayBePrepared } from './prepared.ts'

it.each([
  ['/* prepared */ select "id" from "messages" where "folderId" = $1', true],
  ['select /* prepared */ "data" from "outboxParts" where "part" = $1', true],
  ['insert into "events" ("id", "type") values ($1, $2), ($3, $4) on conflict ("id") do nothing', true],
  ['update "outbox" set "status" = $1 where "id" = $2 and "lease" = $3 and "committedAt" is null', true],
  ['select "id", "epoch" from "accounts" where "id" = $1 for update', true],
  ['update "outbox" set "a" = $1 where "id" = $2 and ("b" = $3 or "c" = $4)', true],
  ['delete from "jobs" where "id" = $1 returning "key"', true],
  ['select * from "accounts" where "id" = $1', false],
  ['update "accounts" set "status" = $1 where "id" = $2 returning *', false],
  ['select "id" from "messages" where "folderId" = $1', false],
  ['update "accounts" set "a" = $1 where "id" in ($2, $3)', false],
  ['insert into "jobs" ("key") select "key" from "accounts"', false],
  ['update "outbox" set "a" = $1 where "id" = $2 or "b" = $3', false],
  ['select "id" from (select "id" from "messages" where "folderId" = $1) as "m" where "id" = $2', false],
  ['delete from "messages" where "id" in (select "id" from "old" limit $1) and "id" = $2', false],
])('keeps the plan of %s: %s', (text, isPrepared) => {
  expect(mayBePrepared(text)).toBe(isPrepared)
})
