import { afterAll, beforeAll, describe } from 'vitest'
import type { ImapServer } from '../../../test/servers/imap-server.ts'
import { realSendingFixture } from '../../../test/servers/sending-fixtures.ts'
import { courierAvailable, startCourier } from '../../../test/servers/unpacked/courier.ts'
import { cyrusAvailable, startCyrus } from '../../../test/servers/unpacked/cyrus.ts'
import { eximAvailable, startExim } from '../../../test/servers/unpacked/exim.ts'
import { postfixAvailable, startPostfix } from '../../../test/servers/unpacked/postfix.ts'
import type { SubmissionServer } from '../../../test/servers/unpacked/submission-server.ts'
import { submissionConformance } from '../conformance/sending.ts'

const pairs = [
  {
    name: 'Exim, with copies on Courier',
    isAvailable: () => eximAvailable() && courierAvailable(),
    startSmtp: startExim,
    startImap: () => startCourier(),
  },
  {
    name: 'Postfix, with copies on Cyrus',
    isAvailable: () => postfixAvailable() && cyrusAvailable(),
    startSmtp: startPostfix,
    startImap: () => startCyrus(),
  },
]

for (const { name, isAvailable, startSmtp, startImap } of pairs) {
  describe.skipIf(!isAvailable())(name, () => {
    let imap: ImapServer
    let smtp: SubmissionServer
    beforeAll(async () => {
      imap = await startImap()
      smtp = await startSmtp({ user: 'ada', password: 'secret' })
      await imap.addUser('ada', 'secret')
    })
    afterAll(async () => {
      await smtp.stop()
      await imap.stop()
    })

    submissionConformance(name, async () => realSendingFixture(imap, smtp, 'ada'))
  })
}
