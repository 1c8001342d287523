// `openapi.json`, for a service with default settings. The build makes the files of /docs and /openapi.json from it.
import { apiDocument } from '../../src/app/api-document.ts'

export async function openApiFile() {
  return `${JSON.stringify(await apiDocument(), null, 2)}\n`
}
