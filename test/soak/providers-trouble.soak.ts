import { describePostgres } from '../kit/database.ts'
import { tryEveryTrouble } from '../scenarios/providers-trouble.ts'

describePostgres('mailboxes at Google and Microsoft in trouble, on PostgreSQL', tryEveryTrouble)
