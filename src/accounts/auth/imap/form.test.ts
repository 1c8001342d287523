import { describe, expect, it } from 'vitest'
import { folder } from '../../../../test/kit/accounts/hosted.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { translate } from '../../../ui/hosted/index.ts'
import { formValues, selectableFolders } from './form.ts'
import { formErrors } from './form-errors.ts'
import { toProposal } from './proposal.ts'

describe('the IMAP form', () => {
  it('shows the server that was found, but keeps one that was typed', () => {
    const found = toProposal({ host: 'imap.gmx.net', port: 143, secure: false }, 'ada@gmx.de')
    const values = { host: 'imap.gmx.net', port: '143', username: 'ada@gmx.de', secure: '' }
    expect(formValues({ email: 'ada@gmx.de' }, found)).toMatchObject(values)
    expect(toProposal({ host: 'x.example', port: 143, secure: true, username: 'ada' }, 'a@x.example')).toEqual({
      host: 'x.example',
      port: '143',
      username: 'ada',
      secure: 'true',
    })
    expect(formValues({ email: 'ada@gmx.de', host: 'mail.example', port: 143, username: 'x' }, found)).toMatchObject({
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
      { path: 'body.password', message: 'is required' },
      { path: 'body.host', message: 'is required' },
      { path: 'body.other', message: 'is odd' },
    ]
    const fields = (facts?: { isServerFound: boolean }) =>
      Object.entries(formErrors(translate('en'), new AppError('validation_failed', { details }), facts)?.fields ?? {})
    const host = ['host', 'Enter the IMAP server.']
    const password = ['password', 'Enter the password.']
    const port = ['port', 'The port must be a number from 1 to 65535.']
    expect(fields()).toEqual([host, password, port])
    expect(fields({ isServerFound: true })).toEqual([password, host, port])
  })

  it('doubts only the password when the username is the expected one', () => {
    const error = new AppError('imap_auth_failed')
    expect(formErrors(translate('en'), error)?.form?.fields).toEqual(['password', 'username'])
    expect(formErrors(translate('en'), error, { isUsernameSure: true })?.form).toMatchObject({
      text: 'Check the password and try again.',
      fields: ['password'],
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
