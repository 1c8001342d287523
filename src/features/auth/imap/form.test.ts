import { describe, expect, it } from 'vitest'
import { folder } from '../../../../test/kit/hosted.ts'
import { AppError } from '../../../lib/errors.ts'
import { translate } from '../../../ui/hosted/index.ts'
import { formErrors, formValues, selectableFolders } from './form.ts'

describe('the IMAP form', () => {
  it('proposes the server of a known address, but keeps one that was typed', () => {
    expect(formValues({ email: 'ada@gmx.de' })).toMatchObject({
      host: 'imap.gmx.net',
      port: '993',
      username: 'ada@gmx.de',
    })
    expect(formValues({ email: 'ada@gmx.de', host: 'mail.example', port: 143, username: 'x' })).toMatchObject({
      host: 'mail.example',
      port: '143',
      username: 'x',
    })
  })

  it('never shows a password again', () => {
    expect(
      JSON.stringify(formValues({ email: 'a@b.c', password: 'geheim', smtpPassword: 'zwei', caldavPassword: 'drei' })),
    ).not.toMatch(/geheim|zwei|drei/)
  })

  it('words each error for users, in the order of the form', () => {
    const details = [
      { path: 'body.port', message: 'must be a number from 1 to 65535' },
      { path: 'body.host', message: 'is required' },
      { path: 'body.other', message: 'is odd' },
    ]
    expect(formErrors(translate('en'), new AppError('validation_failed', { details }))?.fields).toEqual({
      host: 'Enter the IMAP server.',
      port: 'The port must be a number from 1 to 65535.',
    })
  })

  it('lists selectable folders: INBOX, ordinary ones, then special-use ones', () => {
    const folders = [
      folder('Trash', 'trash'),
      folder('Work'),
      folder('[Gmail]', null, false),
      folder('Sent', 'sent'),
      folder('Inbox'),
    ]
    expect(selectableFolders(folders).map(({ path }) => path)).toEqual(['Inbox', 'Work', 'Sent', 'Trash'])
  })
})
