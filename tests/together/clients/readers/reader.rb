# Reads a list by a client in Ruby.

require "json"
require "uri"
require "petstore_client"

address = URI(ENV["API"])
PetstoreClient.configure do |config|
  config.scheme = address.scheme
  config.host = "#{address.host}:#{address.port}"
  config.base_path = address.path
  config.server_index = nil
  config.access_token = ENV["KEY"]
end
puts JSON.generate(PetstoreClient::PetsApi.new.list_pets(limit: 100).map(&:name))
