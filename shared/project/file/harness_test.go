package file_test

import (
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
)

type (
	fixture     = projecttest.Fixture
	user        = projecttest.User
	filesClient = projecttest.FilesClient
	announced   = projecttest.Announced
	object      = projecttest.Object
	response    = slicetest.Response
)

var (
	creation    = projecttest.Creation
	update      = projecttest.Update
	deletion    = projecttest.Deletion
	renaming    = projecttest.Renaming
	randomBytes = projecttest.RandomBytes
	hexSum      = projecttest.HexSum
	base64Of    = projecttest.Base64Of
	contentOf   = projecttest.ContentOf
)
