import type { Feature } from '../../feature.ts'

export const apiKeysFeature = {
  name: 'keys',
  tables: {
    apiKeys: { deletedBy: 'the request that deletes the key' },
  },
} as const satisfies Feature
