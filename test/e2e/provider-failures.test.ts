import { describe } from 'vitest'
import { databases } from '../kit/database.ts'
import { testEveryProviderFailure } from '../scenarios/provider-failures.ts'

describe('mailboxes at Google and Microsoft in trouble, on the file store', () =>
  testEveryProviderFailure(databases('sqlite')))
