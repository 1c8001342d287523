import { idChanges } from '../../../test/servers/changes-fixtures.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { changesConformance } from '../conformance/edits.ts'

changesConformance('gmail', async () => idChanges(await gmailMailbox(), true))
