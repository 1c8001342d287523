import { idChanges } from '../../../test/servers/changes-fixtures.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { changesConformance } from '../contract/changes-conformance.ts'

changesConformance('gmail', async () => idChanges(await gmailMailbox(), true))
