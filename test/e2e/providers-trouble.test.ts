import { describe } from 'vitest'
import { databases } from '../kit/database.ts'
import { tryEveryTrouble } from '../scenarios/providers-trouble.ts'

describe('mailboxes at Google and Microsoft in trouble, on the file store', () => tryEveryTrouble(databases('sqlite')))
