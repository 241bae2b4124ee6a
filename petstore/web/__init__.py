"""What every answer shares: routes, proxies, headers, errors and responses."""
