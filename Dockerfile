# The app for a lecture hall: `docker build -t capsviz .`, then `docker run -p 8501:8501 capsviz`.
FROM python:3.11-slim

RUN pip install --no-cache-dir uv
WORKDIR /capsviz
COPY . .
# Of the tested versions what the app needs, each checked against its hash.
RUN uv pip install --system --no-cache --constraint requirements.lock ".[app]"

RUN useradd --create-home visitor
USER visitor
WORKDIR /home/visitor
ENV CAPSVIZ_DATA=/home/visitor/data
EXPOSE 8501
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=5)"
CMD ["capsviz", "app", "--address", "0.0.0.0"]
