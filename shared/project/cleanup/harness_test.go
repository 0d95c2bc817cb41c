package cleanup_test

import (
	"devplatform/infra/projecttest"
)

type (
	fixture     = projecttest.Fixture
	user        = projecttest.User
	filesClient = projecttest.FilesClient
	cleaner     = projecttest.Cleaner
	object      = projecttest.Object
)
