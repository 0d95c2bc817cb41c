package cleanup_test

import (
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
)

type (
	fixture     = projecttest.Fixture
	user        = projecttest.User
	filesClient = projecttest.FilesClient
	announced   = projecttest.Announced
	cleaner     = projecttest.Cleaner
	object      = projecttest.Object
	response    = slicetest.Response
)
