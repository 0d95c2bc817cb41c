package assistant

import "devplatform/shared/db"

// store keeps conversations, generations and usage.
type store struct {
	client        *db.Client
	conversations db.Table
}
