"""The Streamlit app: widgets in, figures out; no mathematics."""
