import type { Feature } from '../../feature.ts'
import { erasePush } from './store.ts'

export const pushFeature = {
  name: 'push',
  tables: {
    pushSubscriptions: { deletedBy: ['erase'] },
  },
  erase: [erasePush],
} as const satisfies Feature
