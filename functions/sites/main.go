// Command sites is the Lambda function behind the addresses of all sites. It streams its responses. It shares no role
// and no API with the other functions.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartBoundedStreaming(newHandler) }
