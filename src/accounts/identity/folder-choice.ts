import { AppError, type ErrorDetail, invalid } from '../../platform/errors/app-error.ts'
import type { ProviderName } from '../../providers/contract/index.ts'

/** A folder as its label describes it. */
export interface ChoosableFolder {
  id: string
  name: string
  providerId: string
}

/**
 * The label ids of the folders that a request names by id or name. Throws validation_failed, naming each folder that does not exist, and
 * for providers that sync all folders.
 */
export function chooseFolders(
  provider: ProviderName,
  names: readonly string[],
  folders: readonly ChoosableFolder[],
): string[] {
  if (provider !== 'imap') {
    throw invalid('body.folders', `cannot be chosen for ${provider}, which reports the changes of all folders together`)
  }
  const details: ErrorDetail[] = []
  const ids = names.flatMap((name, index) => {
    const folder = folders.find(({ id }) => id === name) ?? folders.find((each) => isNamed(each, name))
    if (folder !== undefined) return folder.id
    details.push({ path: `body.folders.${index}`, message: describeMissing(name, folders) })
    return []
  })
  if (details.length === 0) return [...new Set(ids)]
  const message = `${details[0]?.path} ${details[0]?.message}.`
  throw new AppError('validation_failed', { message, details })
}

function isNamed({ name, providerId }: ChoosableFolder, wanted: string): boolean {
  return name === wanted || providerId === wanted || (providerId === 'INBOX' && wanted.toUpperCase() === 'INBOX')
}

function describeMissing(name: string, folders: readonly ChoosableFolder[]): string {
  if (folders.length === 0) return 'is not known yet: the folders of the account are listed by its first sync'
  return `names "${name}", which is no folder of the account; see GET /accounts/{accountId}/labels`
}
