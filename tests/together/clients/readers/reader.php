<?php // Reads a list by a client in PHP.

require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    require 'php/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
});

$configuration = (new OpenAPI\Client\Configuration())->setHost(getenv('API'))->setAccessToken(getenv('KEY'));
$pets = new OpenAPI\Client\Api\PetsApi(new GuzzleHttp\Client(), $configuration);
$names = array_map(fn($pet) => $pet->getName(), $pets->listPets(100));
echo json_encode($names, JSON_THROW_ON_ERROR), "\n";
