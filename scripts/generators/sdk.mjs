// `sdk/src/generated`: the types of the API and a class for each of its resources, from `openapi.json`, which comes first.
import { readFileSync } from 'node:fs'
import { sdkResources } from '../../sdk/generator/resources.mjs'
import { sdkTypes } from '../../sdk/generator/types.mjs'

const document = () => JSON.parse(readFileSync('openapi.json', 'utf8'))

export const sdkTypesFile = () => sdkTypes(document())
export const sdkResourcesFile = () => sdkResources(document())
