import type { Feature } from '../../feature.ts'

export const encryptionFeature = {
  name: 'encryption',
  tables: {
    instanceKeys: { deletedBy: 'the instance when it stops', isInBackup: false },
  },
} as const satisfies Feature
